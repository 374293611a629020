/** An event cannot become rows, today or later: the fault lies in the event, not in the engine or the machine. */
export class NotProjectable extends Error {
  override readonly name = 'NotProjectable'
}
