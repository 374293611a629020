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
