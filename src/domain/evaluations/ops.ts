import type { JsonObject } from '../../kernel/json/json.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { versionRef } from '../refs/ref.js'
import { contentDigest } from '../objects/weave-digest.js'

/** The content of an op without source code, for the calls that this service writes itself. */
export const OP_WITHOUT_CODE: JsonObject = {
  _type: 'CustomWeaveType',
  weave_type: { type: 'Op' },
  files: {},
  load_op: 'NO_LOAD_OP',
}

/** SDKs look for evaluation runs by the reference of their op, so that calls name it so. */
export const refOfOp = (sha256: Sha256, projectId: string, name: string): string =>
  versionRef(projectId, 'op', name, contentDigest(sha256, OP_WITHOUT_CODE))
