"""What each page remembers: a frozen dataclass a page, with `to_query` and `from_query` side by side.

An address holds numbers and names of our own, a path, or the random key of a trace in memory; never text of a trace.
"""
