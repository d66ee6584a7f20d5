"""`tdamp bench accuracy`: error by epoch beside Adam, in four parts."""
