"""The waist: every eligible call as a forecast, and what it is numbered by."""
