"""From tallies to intervals, verdicts, figures and reports; the command line."""
