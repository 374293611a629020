import type { Sha256 } from '../../kernel/ports/sha256.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'

/** The id of a model is that of its name, so that a repeated creation finds it. */
export const trainedModelId = (sha256: Sha256, project: string, name: string): string =>
  uuidOfDigest(sha256(`trained model ${project}/${name}`))
