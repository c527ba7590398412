"use strict";
// What only a script can do: everything else works without one.
