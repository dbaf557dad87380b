"""The ladder from a client to the model: one rung after the other, up to the first that does not hold.

`record` is what is known afterwards, `target` whom we stand in for, `climb` the order of the rungs; the other modules
hold the rungs themselves, a group each.
"""
