"""writers"""
