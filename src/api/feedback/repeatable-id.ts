import { canonicalJson } from '../../domain/json/canonical.js'
import type { Ports } from '../../domain/ports/ports.js'
import { uuidOfDigest } from '../../domain/uuid-of-digest.js'
import type { FeedbackCreate } from './codecs.js'

/**
 * An id for feedback that names none but can only be meant once: a score that names the call of its scorer, or what
 * stands in the place of another. It derives from what is said, so that clients that know no ids here, such as the SDK
 * of npm, may send it again when an answer got lost. Undefined where the same may be said twice.
 */
export const repeatableId = (
  { sha256 }: Pick<Ports, 'sha256'>,
  userId: string,
  { wb_user_id: _ignored, ...said }: FeedbackCreate,
  replacing: string | null,
): string | undefined =>
  said.call_ref === null && replacing === null
    ? undefined
    : uuidOfDigest(sha256(canonicalJson([userId, replacing, said])))
