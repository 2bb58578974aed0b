"""How well calibrated every forecaster is, with intervals and tests by episode."""
