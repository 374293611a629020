export class CheckpointInvalid extends Error {
  override readonly name = 'CheckpointInvalid'
}

export class PromptTooLong extends Error {
  override readonly name = 'PromptTooLong'
}

/** A token that is not in the vocabulary, or lists of a sequence that differ in length. */
export class SequenceInvalid extends Error {
  override readonly name = 'SequenceInvalid'
}

/** A loss or gradient that is not finite. The weights before the step are unchanged. */
export class TrainingDiverged extends Error {
  override readonly name = 'TrainingDiverged'
}

/** A thread of the engine ended during a job. The next job starts it again. */
export class EngineCrashed extends Error {
  override readonly name = 'EngineCrashed'
}

export class EngineStopped extends Error {
  override readonly name = 'EngineStopped'
}

const KNOWN = [CheckpointInvalid, PromptTooLong, SequenceInvalid, TrainingDiverged]

/** An error as one thread sends it to another. */
export interface SerializedError {
  readonly name: string
  readonly message: string
}

export const serializedError = (error: unknown): SerializedError =>
  error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'Error', message: String(error) }

export const deserializedError = ({ name, message }: SerializedError): Error => {
  const known = KNOWN.find((candidate) => candidate.name === name)
  return known === undefined ? new Error(message) : new known(message)
}
