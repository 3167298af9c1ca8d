"""Programs without devices: the schedule as calls in order, for the execution models `inline-static` and
`inline-dynamic`.
"""
