import MoonloopCore

let loop = Loop.main
loop.mainQueueHolds = false

let source = loop.makeSource(name: "news") { source in
  print("news")
  source.invalidate()
}
try loop.add(source)

let other = LoopThread(name: "other")
other.loop.perform {
  source.signal()
  loop.wakeUp()
}
loop.run()
other.stop()
