"""`tdamp bench stream`: does memory stay the same while the rows grow, and is anything lost by it?"""
