"""Planted faults of the core: `scripts/mutants` builds them all into one copy and turns each on.

A row: the file below Sources/MoonloopCore, what goes wrong, the text, and what stands for it when
the fault is on. Texts are expressions; those that begin with a newline are whole statements.
"""

RUN = "Loop/Loop+Run.swift"
TIMERS = "Timers/Loop+Timers.swift"
QUEUE = "Timers/TimerQueue.swift"
SOURCES = "Items/Loop+Sources.swift"
PORTS = "Items/Loop+Ports.swift"
ITEMS = "Items/Loop+Items.swift"
CALLS = "Loop/Loop+Callouts.swift"
MODES = "Loop/Loop+Modes.swift"
POST = "Loop/Post.swift"
KEPT = "Loop/KeptEvent.swift"
BLOCKS = "Items/BlockQueue.swift"
MODE = "Loop/Mode.swift"
FRAME = "Loop/RunFrame.swift"

FAULTS = [
    # The order of a pass.
    (RUN, "no beforeTimers", "\n    notify(.beforeTimers, mode)", ""),
    (RUN, "beforeSources twice", "\n    notify(.beforeSources, mode)",
     "notify(.beforeSources, mode); notify(.beforeSources, mode)"),
    (RUN, "no blocks after sources", "\n    if performed { performBlocks(mode) }", ""),
    (RUN, "a pass with a source sleeps", "!performed && !frame.polls", "!frame.polls"),
    (RUN, "a stop goes before the end of a poll", "\n    if frame.polls { return .timedOut }",
     "if frame.isStopped { return .stopped }; if frame.polls { return .timedOut }"),
    (RUN, "no afterWaiting", "\n      notify(.afterWaiting, mode)", ""),
    (RUN, "afterWaiting before the sleep", "\n      sleep(frame)",
     "notify(.afterWaiting, mode); sleep(frame)"),
    (RUN, "ready ports need a sleep", "mustLook && hasReadyPort(frame)", "false"),
    (RUN, "timers never go first", "frame.servedPort && timersAreDue", "false"),
    (RUN, "timers always go first", "open.contains(.ports) && !timersAreFirst",
     "open.contains(.ports) && !timersAreDue"),
    (RUN, "ports forget that one was served", "\n      frame.servedPort = true", ""),
    # Results.
    (RUN, "a port is no source", "performed || servedPort", "performed"),
    (RUN, "a source is no source", "handled && frame.returnAfterSource", "false"),
    (RUN, "a stop goes before the timeout",
     "frame.deadline != .max && clock.hasReached(frame.deadline)",
     "!frame.isStopped && frame.deadline != .max && clock.hasReached(frame.deadline)"),
    (RUN, "emptiness goes before a stop", "\n    if frame.isStopped { return .stopped }",
     "if isEmpty(frame.mode) { return .finished }; if frame.isStopped { return .stopped }"),
    (RUN, "never finished", "\n    if isEmpty(frame.mode) { return .finished }\n", ""),
    (RUN, "a stop in entry is late", "frame.isStopped ? .stopped : nil", "nil"),
    (RUN, "the time counts from before entry",
     "\n    if frame.limit != .max { frame.deadline = saturatingDate(clock.now(), after: frame.limit) }",
     "if frame.limit != .max { frame.deadline = saturatingDate(passNow, after: frame.limit) }"),
    # The sleep and wake-ups.
    (RUN, "wake-ups of the pass are lost", "wakes.load(ordering: .sequentiallyConsistent) != frame.wakesSeen",
     "false"),
    (RUN, "wake-ups are counted from the sleep",
     "\n    waitingFlag.store(true, ordering: .releasing)",
     "frame.wakesSeen = wakes.load(ordering: .sequentiallyConsistent); waitingFlag.store(true, ordering: .releasing)"),
    (RUN, "an empty mode sleeps", "\n      if isEmpty(mode) { return }  // R10", ""),
    (RUN, "a stop does not end the sleep", "hasReady(mode) || frame.isStopped || isAwaited(frame)",
     "hasReady(mode) || isAwaited(frame)"),
    (POST, "a wake-up is not counted",
     "\n    wakes.wrappingAdd(1, ordering: .sequentiallyConsistent)", ""),
    # Stops.
    (POST, "what is ready at a stop is dropped", "\n    if !hasDueTimers(frame.mode) { frame.openEvents.remove(.timers) }",
     "frame.openEvents.remove(.timers)"),
    (POST, "what comes after a stop is served",
     "\n    if frame.keptEvent == nil && !hasReady(frame.mode) { frame.openEvents.remove(.ports) }", ""),
    (FRAME, "a stop is ignored", "\n    isStopped = true", ""),
    # The grid, and batches.
    (TIMERS, "the grid begins at the fire", "TimerSchedule.next(after: date, interval: interval, laterThan: now).date",
     "saturatingDate(clock.now(), after: interval)"),
    (TIMERS, "missed dates are made up for",
     "clock.hasReached(next)", "false"),
    (TIMERS, "a moved date is forgotten", "!flags.isDisjoint(with: [.moved, .rearmed])", "false"),
    (TIMERS, "a one-shot stays", "interval == 0 && !flags.contains(.rearmed)", "false"),
    (TIMERS, "one timer a pass",
     "\n    while let slot = mode.timers.nextDue(in: batch) { fire(slot, mode, at: batch.now) }",
     "if let slot = mode.timers.nextDue(in: batch) { fire(slot, mode, at: batch.now) }"),
    (TIMERS, "timers fire inside themselves",
     "\n    for index in 0..<firing.count { parkEverywhere(Int(firing[index])) }", ""),
    (QUEUE, "equal heaps go last", "heapIsDue && heap[0].precedes(first)", "false"),
    # Sources.
    (SOURCES, "equal sources in reverse", "\n    if eventOrder != nil { drawOrder(of: start..<batches.count) }",
     "var low = start; var high = batches.count - 1; while low < high { let kept = batches[low]; batches[low] = batches[high]; batches[high] = kept; low += 1; high -= 1 }"),
    (SOURCES, "orders are ignored", "mine != others ? mine < others : number < other.number",
     "number < other.number"),
    (SOURCES, "the last source decides", "\n      any = any || done", "any = done"),
    (SOURCES, "sources of other modes", "source.signalNumber == entry.number && source.isIn(mode.index)",
     "source.signalNumber == entry.number"),
    # Ports.
    (PORTS, "a port keeps its turn", "\n      mode.appendReady(ReadyItem(port))  // Ready ports take turns (R54).",
     "mode.appendReady(ReadyItem(port)); mode.bringForward(mode.readyCount - 1)"),
    (PORTS, "an emptied port keeps its place",
     "\n      for index in indices(of: port) where index != mode.index { modes[index].forgetReady(port) }", ""),
    (ITEMS, "held messages are forgotten",
     "port.waiting > 0 && !mode.containsReady(ReadyItem(port))", "false"),
    # Observers.
    (CALLS, "one-shot observers stay", "\n      if !observer.repeats { observer.invalidate() }  // R34", ""),
    (MODE, "equal observers in reverse", "observers.firstIndex { $0.order > observer.order }",
     "observers.firstIndex { $0.order >= observer.order }"),
    # Modes and blocks.
    (ITEMS, "remove(common) takes strangers", "\n        guard isCommonItem(item) else { continue }", ""),
    (ITEMS, "adding a source does not wake", "\n      if isApplyingPosts { wakeUp() }  // R50", ""),
    (ITEMS, "signalled sources are forgotten",
     "\n      if source.isSignalled && !isNoted(source) { noteSignalled(source) }  // R41", ""),
    (BLOCKS, "common blocks run nowhere", "mode.isCommon && $0 == .common", "false"),
    (BLOCKS, "blocks of other modes are lost", "\n    if !taken.isEmpty { swap(&kept, &blocks) }",
     "if !taken.isEmpty { blocks = [] }"),
    # Nested runs.
    (KEPT, "a nested run takes the port",
     "\n      if let event = outer.keptEvent { withhold(event, true) }", ""),
]
