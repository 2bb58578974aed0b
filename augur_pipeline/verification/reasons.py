"""Why a number is missing: the values of every `undefined_reason`."""

NO_ROWS = "no_rows"
"""There was nothing to score."""

FEW_EPISODES = "few_episodes"
"""Too few (effective) episodes to say how much the number varies."""

FEW_MISSES = "few_misses"
"""Fewer than five episodes hold a wrong call, or fewer than five a right one."""

ZERO_SPREAD = "zero_spread"
"""Leaving out an episode changes nothing, so the spread cannot be estimated."""

ZERO_REFERENCE_LOSS = "zero_reference_loss"
"""The reference has no loss (or none without some episode): a ratio to it is undefined."""

NO_DEGREES_OF_FREEDOM = "no_degrees_of_freedom"
"""Not more groups than fitted parameters."""

NO_VARIANCE = "no_variance"
"""No row's, or no episode's, loss differs from what its probabilities promise (p of ½ everywhere,
say): it can be neither better nor worse than stated."""
