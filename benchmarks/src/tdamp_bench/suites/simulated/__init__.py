"""`tdamp bench simulated`: is the epistemic variance as large as the squared error, on data drawn from the model?"""
