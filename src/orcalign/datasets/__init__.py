"""LeRobot data sets: read, labelled with progress by one demo video, and shown on one page.

    folder → episodes → features → labels → orcalign_progress.parquet, a page, metrics

Nothing of a data set is changed: every file that is written beside it begins with `orcalign`.
"""
