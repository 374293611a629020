import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { json, number, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'

const blob = open('Blob', { required: { digest: string, size: number } })

export const elementRefused = open('ElementRefused', {
  says: 'An element of a batch was rejected: it was invalid or exceeded a limit. Its content is stored; other elements are not affected.',
  required: { project_id: projectId, loc: arrayOf(json), msg: string, type: string },
  optional: {
    /** The element's JSON text; null if it is too large for an event. */
    raw: nullable(string),
    /** Blob with the element's JSON text, if it is too large for an event. */
    raw_blob: nullable(blob),
  },
})

export const intakeEvents = { ElementRefused: elementRefused }

export type ElementRefused = t.TypeOf<typeof elementRefused>

export const intakeStream = (projectId: string, id: string): string => `intake-${projectId}/${id}`
