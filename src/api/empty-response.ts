import { closed } from '../domain/codec/struct.js'

const nothing = closed('Nothing', { says: 'It is done; there is nothing more to say.' })

/** The answer `{}`. */
export const emptyResponse = { schema: nothing.schema }
