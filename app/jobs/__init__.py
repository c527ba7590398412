"""Background work: what a worker does, woken by jobs in the database and by the clock."""
