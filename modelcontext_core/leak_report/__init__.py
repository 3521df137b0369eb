"""Leaks of many traces: found, counted, explained, and mended by rules.

- `encoded`: the conversations of a trace as the model sees them
- `places`, `trace_scan`: the raw ids in one trace; `coverage`: how each position fares
- `rows`, `report`: counts that can be added in any order, and the report that holds them; `tasks`, `batch`: the same
  over folders, run by `runners` (all cores) or `cluster` (several machines)
- `suggestions`, `measure`: rules for tools that nobody declared, and what each would change
- `baseline`, `report_json`, `sarif`: what was accepted, the report as a file, findings for code scanning
"""

from modelcontext_core.leak_report.report import Collector, merge, merged, scan
from modelcontext_core.leak_report.rows import Counts, Coverage, LeakReport, Totals

__all__ = ["Collector", "Counts", "Coverage", "LeakReport", "Totals", "merge", "merged", "scan"]
