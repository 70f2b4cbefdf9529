// Azurite's blob service, under a name by which the system knows its process:
// Node calls all of its own alike, and not the same in every version.
process.title = "azurite";
require("azurite/dist/src/blob/main.js");
