"""auditors"""
