import * as E from 'fp-ts/lib/Either.js'
import type fc from 'fast-check'
import { querySchemas } from '../../src/domain/query/schema.js'
import { decode, type Codec } from '../../src/kernel/codec/codec.js'
import { arbitraryJson, arbitraryJsonObject } from './arbitrary-json.js'
import { arbitraryOfSchema } from './arbitrary-of-schema.js'

const anything = {
  json: arbitraryJson,
  jsonObject: arbitraryJsonObject,
  longList: 1000,
  components: querySchemas,
}

/**
 * Whatever a codec accepts, found by walking its schema, decoded, and then as the log gives it back. What a schema
 * cannot say (bytes for characters, no control characters) the codec refuses itself.
 */
export const arbitraryOf = <A>(codec: Codec<A>): fc.Arbitrary<A> =>
  arbitraryOfSchema(codec.schema, anything)
    .map((input) => decode(codec)(input))
    .filter(E.isRight)
    .map(({ right }) => JSON.parse(JSON.stringify(right)) as A)
