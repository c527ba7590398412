"""Why a memory is as it is, told in sentences. Pure."""
