"""prov"""
