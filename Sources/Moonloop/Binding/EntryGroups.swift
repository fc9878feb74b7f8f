// All that scripts see, in the order of the reference: what the documentation is generated from.

package import LuaEmbed
internal import MoonloopSystem

/// The module or a kind of handle, as the reference shows it. Read when documentation is made.
package struct EntryGroup: Sendable {
  /// The heading in the reference.
  package let title: String
  /// The class in the editor's annotations.
  package let type: String
  /// What the reference calls a handle of it: `timer` in `timer:again(delay)`.
  package let receiver: String
  /// The class whose entries it has, too.
  package let parent: String?
  package let summary: String
  package let entries: [LuaEntry]
}

package let entryGroups: [EntryGroup] = [
  EntryGroup(
    title: "The module", type: "moonloop", receiver: "ml", parent: nil,
    summary: "What `require \"moonloop\"` gives. Its functions that make an item do not add it "
      + "to the loop; the loop's own methods of the same names do.",
    entries: moduleEntries + moduleSystemEntries + [reloadCallEntry]),
  EntryGroup(
    title: "Reloading", type: "moonloop.Reload", receiver: "ml.reload", parent: nil,
    summary: "`ml.reload`, which is called itself, and has functions. See [the page](reload.md).",
    entries: reloadEntries),
  EntryGroup(
    title: "The loop", type: "moonloop.Loop", receiver: "loop", parent: nil,
    summary: "There is one for a thread, and `ml.current()` finds it.", entries: loopEntries),
  EntryGroup(
    title: "Every item", type: "moonloop.Item", receiver: "item", parent: nil,
    summary: "A timer, source, fd, observer or port. Once it is in a mode the loop holds it, and "
      + "it ends by `item:invalidate()` or, for a one-shot timer, by firing.",
    entries: itemEntries),
  EntryGroup(
    title: "Timers", type: "moonloop.Timer", receiver: "timer", parent: "moonloop.Item",
    summary: "Made by `loop:timer`, `loop:after`, `loop:every`, `loop:at` and `ml.timer`.",
    entries: timerEntries),
  EntryGroup(
    title: "Custom sources", type: "moonloop.Source", receiver: "source", parent: "moonloop.Item",
    summary: "Made by `loop:source` and `ml.source`; signalled by hand.", entries: sourceEntries),
  EntryGroup(
    title: "Descriptors", type: "moonloop.Descriptor", receiver: "fd", parent: "moonloop.Item",
    summary: "Made by `loop:fd` and `ml.fd`; signalled by the kernel.",
    entries: descriptorEntries),
  EntryGroup(
    title: "Streams", type: "moonloop.Stream", receiver: "stream", parent: nil,
    summary: "Made by `loop:stream`, `ml.stream`, and by all that opens one: bytes in and out, "
      + "with waits in straight-line code. One task may read and one may write at a time.",
    entries: streamEntries),
  EntryGroup(
    title: "The network", type: "moonloop.Net", receiver: "ml.net", parent: nil,
    summary: "`ml.net`: connections and datagrams. See [net.md](net.md).", entries: netEntries),
  EntryGroup(
    title: "Servers", type: "moonloop.Server", receiver: "server", parent: "moonloop.Item",
    summary: "Made by `ml.net.listen`: a task for each connection.", entries: serverEntries),
  EntryGroup(
    title: "Datagrams", type: "moonloop.Datagrams", receiver: "socket", parent: "moonloop.Item",
    summary: "Made by `ml.net.udp`.", entries: datagramEntries),
  EntryGroup(
    title: "Observers", type: "moonloop.Observer", receiver: "observer", parent: "moonloop.Item",
    summary: "Made by `loop:observer` and `ml.observer`; they hear of the stages of a run.",
    entries: observerEntries),
  EntryGroup(
    title: "Making ports", type: "moonloop.PortModule", receiver: "ml.port", parent: nil,
    summary: "`ml.port`: called, it makes a port of this process; its functions are for ports that "
      + "other processes find by their names. See [ports.md](ports.md).",
    entries: [portCallEntry] + namedPortEntries),
  EntryGroup(
    title: "Ports", type: "moonloop.Port", receiver: "port", parent: "moonloop.Item",
    summary:
      "Made by `loop:port`, `ml.port` and its functions, and the two ends of a worker's; queues of "
      + "messages.",
    entries: portEntries),
  EntryGroup(
    title: "Ports of others", type: "moonloop.RemotePort", receiver: "port", parent: nil,
    summary: "A port that came in a message from another state or process: a way to send to it.",
    entries: remotePortEntries),
  EntryGroup(
    title: "Workers", type: "moonloop.Worker", receiver: "worker", parent: "moonloop.Item",
    summary: "Threads with a state and a loop of their own, made by `ml.worker`; see "
      + "[the page](workers.md).",
    entries: workerEntries),
  EntryGroup(
    title: "Replies", type: "moonloop.Reply", receiver: "reply", parent: nil,
    summary: "What the handler of a port gets with a message, to answer it.",
    entries: replyEntries),
  EntryGroup(
    title: "Requests", type: "moonloop.Request", receiver: "request", parent: nil,
    summary: "Functions that wait to be performed: what `loop:perform` and `loop:perform_after` "
      + "give.",
    entries: requestEntries),
  EntryGroup(
    title: "Signals", type: "moonloop.Signal", receiver: "signal", parent: "moonloop.Item",
    summary: "Made by `loop:signal` and `ml.signal`; signals of the process as events.",
    entries: signalEntries),
  EntryGroup(
    title: "File watches", type: "moonloop.Watch", receiver: "watch", parent: "moonloop.Item",
    summary: "Made by `loop:watch` and `ml.watch`; they hear of changes of files and folders.",
    entries: watchEntries),
  EntryGroup(
    title: "Opening terminals", type: "moonloop.tty", receiver: "ml.tty", parent: nil,
    summary: "See [terminals](system.md#terminals).", entries: terminalModuleEntries),
  EntryGroup(
    title: "Terminals", type: "moonloop.Tty", receiver: "tty", parent: nil,
    summary: "Made by `ml.tty.open`.", entries: terminalEntries),
  EntryGroup(
    title: "Child processes", type: "moonloop.process", receiver: "ml.process", parent: nil,
    summary: "Programs that are started without a shell. See [processes](processes.md).",
    entries: processModuleEntries),
  EntryGroup(
    title: "Processes", type: "moonloop.Process", receiver: "process", parent: nil,
    summary: "Made by `ml.process.spawn`. The loop holds it until its end was told.",
    entries: processEntries),
  EntryGroup(
    title: "Tasks", type: "moonloop.Task", receiver: "task", parent: nil,
    summary: "Functions that may wait: what `loop:task` and `task:task` give, and the scope that "
      + "their function gets.",
    entries: taskEntries),
  EntryGroup(
    title: "Channels", type: "moonloop.Channel", receiver: "channel", parent: nil,
    summary: "Made by `ml.channel`: tasks hand values to one another, in order, and wait for one "
      + "another. A channel holds no run open.", entries: channelEntries),
  EntryGroup(
    title: "Semaphores", type: "moonloop.Semaphore", receiver: "semaphore", parent: nil,
    summary: "Made by `ml.semaphore`: no more tasks than it has permits do a thing at a time.",
    entries: semaphoreEntries),
  EntryGroup(
    title: "Permits", type: "moonloop.Permit", receiver: "permit", parent: nil,
    summary: "What `semaphore:acquire` gives.", entries: permitEntries),
  EntryGroup(
    title: "Items of the program", type: "moonloop.ProgramItem", receiver: "program_item",
    parent: nil,
    summary: "Sources, timers and other items that a Swift program made and handed over (see "
      + "[embedding](swift.md)), for `loop:add`, `remove`, `contains`, `why`. Several "
      + "states may have the same one. In the examples `jobs` is a source, `tick` a timer.",
    entries: programItemEntries),
  EntryGroup(
    title: "Recordings", type: "moonloop.Recording", receiver: "recording", parent: nil,
    summary: "Made by `loop:record`.", entries: recordingEntries),
]

/// Tables that scripts get from us, field by field.
package let entryRecords: [LuaParameter] =
  systemRecords + [peerRecord] + metricsRecords + reloadRecords + [
    LuaParameter(
      "moonloop.Error", "table", "What an error handler gets.",
      fields: [
        LuaParameter("message", "string", "What was raised, as text."),
        LuaParameter("traceback", "string", "The message and the calls that led to it."),
        LuaParameter("handle", "string", "Whose handler it was, and where that was made."),
        LuaParameter("kind", "string", "\"runtime\", \"memoryLimit\", \"timeLimit\", ..."),
        LuaParameter("code", "string", "The `code` of an error table.", optional: true),
        LuaParameter("mode", "string", "The mode of the run, if there was one.", optional: true),
        LuaParameter(
          "value", "any", "What was raised, if it was no string: the same value.", optional: true),
      ]),
    LuaParameter(
      "moonloop.ModeContents", "table", "What is in a mode.",
      fields: [
        LuaParameter("common", "boolean", "Whether it is one of the common modes."),
        LuaParameter("empty", "boolean", "Whether a run of it is finished at once."),
        LuaParameter("timers", "integer", "How many timers are in it."),
        LuaParameter("sources", "integer", "How many custom sources."),
        LuaParameter("fds", "integer", "How many descriptors."),
        LuaParameter("ports", "integer", "How many ports."),
        LuaParameter("observers", "integer", "How many observers."),
        LuaParameter("blocks", "integer", "How many queued functions."),
      ]),
  ]
