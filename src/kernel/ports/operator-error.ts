/** A failure that an operator can fix. Programs show its message without a stack. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
}
