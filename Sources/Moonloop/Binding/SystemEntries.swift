// The functions of the module, and the methods of the loop, for what is outside of the process:
// signals, files that change, terminals, children.

internal import LuaEmbed

let moduleSystemEntries: [LuaEntry] = [moduleSignalEntry, moduleWatchEntry]

let loopSystemEntries: [LuaEntry] = [loopSignalEntry, loopWatchEntry]

/// The tables that scripts get from them.
package let systemRecords: [LuaParameter] = [signalInfoRecord, fileChangeRecord] + processRecords
