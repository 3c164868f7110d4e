"""The report: one self-contained HTML page about training runs.

gather (run directories) → feature_table, translations → payload (plain values) → page (one file).
"""

from itersel.report.page import write_report

__all__ = ["write_report"]
