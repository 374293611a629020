import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { closed } from '../../../kernel/codec/struct.js'
import { textLike } from '../../../kernel/codec/text.js'
import { upstreamFields } from './content.js'

const { secret: _, ...optional } = upstreamFields.optional

const configuredUpstream = closed('ConfiguredUpstream', {
  says: "An upstream from the operator's file. Its address is trusted.",
  required: upstreamFields.required,
  optional: {
    ...optional,
    /** The environment variable with the bearer token. */
    api_key_env: nullable(
      textLike(
        'variable',
        /^[A-Za-z_][A-Za-z0-9_]*$/,
        'String should be the name of an environment variable, not its value',
      ),
    ),
  },
})

/** The operator's upstreams: the JSON file `TALLYTREE_UPSTREAMS_FILE`. */
export const upstreamsFile = closed('UpstreamsFile', { required: { upstreams: arrayOf(configuredUpstream) } })
export type UpstreamsFile = t.TypeOf<typeof upstreamsFile>
