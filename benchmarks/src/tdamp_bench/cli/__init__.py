"""The commands tdamp bench and tdamp reproduce."""
