"""`tdamp bench soak`: random networks on hostile data, and hostile streams; nothing may stop being a number."""
