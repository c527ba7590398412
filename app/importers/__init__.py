"""Reading the files of other memory products: pure readers, from bytes to facts with dates."""
