import MoonloopCore

let loop = Loop.main
loop.mainQueueHolds = false

var count = 0
loop.schedule(after: .seconds(1), every: .seconds(1)) { timer in
  count += 1
  print("\(count) s")
  if count == 3 { timer.invalidate() }
}
loop.run()
