import { canonicalJson } from '../../domain/json/canonical.js'
import type { Ports } from '../../domain/ports/ports.js'
import { uuidOf } from '../tracing/refusals.js'
import type { FeedbackCreate } from './codecs.js'

/**
 * Derives an id from the content of feedback that can only be meant once: a score that names the call of its scorer, or
 * a replacement. Clients that send no ids, such as the npm SDK, can then retry after a lost response. Undefined where
 * the same feedback may be given twice.
 */
export const repeatableId = (
  { sha256 }: Pick<Ports, 'sha256'>,
  userId: string,
  { wb_user_id: _ignored, ...said }: FeedbackCreate,
  replacing: string | null,
): string | undefined =>
  said.call_ref === null && replacing === null
    ? undefined
    : uuidOf(sha256(canonicalJson([userId, replacing, said])))
