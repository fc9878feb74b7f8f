// Resource pressure: how long tasks had to wait for a resource, as measured by the kernel (PSI).

internal import CLinuxShims
package import MoonloopCore

extension Loop {
  /// Watches one pressure file. Loop thread only.
  package final class PressureWatch {
    /// The trigger: this much stall in total within a window; in microseconds.
    package struct Trigger: Equatable {
      /// Whether all tasks must stall at once, instead of some.
      package let isFull: Bool
      package let stall_us: Int64
      package let window_us: Int64

      package init(isFull: Bool, stall_us: Int64, window_us: Int64) {
        (self.isFull, self.stall_us, self.window_us) = (isFull, stall_us, window_us)
      }

      package var level: String { isFull ? "full" : "some" }
      var text: String { "\(level) \(stall_us) \(window_us)" }
    }

    private let file: Descriptor
    private let isFIFO: Bool

    private init(_ path: [UInt8]) throws(SystemError) {
      let opened = path.withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { cmx_pressure_open($0.baseAddress) }
      }
      file = try SystemCall.open.descriptor(opened)
      isFIFO = try SystemCall.fcntl.check(cmx_pressure_sort(file.number)) == 1
    }

    /// Sets a trigger and makes its source, in no mode yet.
    ///
    /// Do not poll the source: that would consume the notification.
    /// - Parameters:
    ///   - path: The pressure file, zero-terminated. A FIFO can replace it: each write to it is a
    ///     notification.
    ///   - handler: Gets the current text of the file.
    /// - Throws: When the system refuses; nothing is left behind.
    package static func make(
      _ path: [UInt8], _ trigger: Trigger, name: String, on loop: Loop,
      handler: @escaping (_ source: DescriptorSource, _ text: String) -> Void
    ) throws(SystemError) -> DescriptorSource {
      let watch = try PressureWatch(path)
      if !watch.isFIFO { try watch.set(trigger, loop.kernel) }
      let set = try SystemCall.epollControl.descriptor(
        cmx_pressure_watch(watch.file.number, watch.isFIFO))
      let source = DescriptorSource(
        set.release(), closesDescriptor: true, name: name,
        handler: { source, _ in handler(source, watch.read(source.fd)) })
      source.isNonBlocking = true
      return source
    }

    private func set(_ trigger: Trigger, _ kernel: any Kernel) throws(SystemError) {
      var result = Result<Int, SystemError>.success(0)
      (Array(trigger.text.utf8) + [0]).withUnsafeBytes { bytes in
        result = Result { () throws(SystemError) in try kernel.write(file.number, bytes) }
      }
      _ = try result.get()
    }

    /// The text of the file; "" if it can no longer be read.
    private func read(_ set: Int32) -> String {
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
        let count = cmx_pressure_read(
          file.number, isFIFO, set, buffer.baseAddress, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
      }
    }
  }
}
