import { closed } from '../../kernel/codec/struct.js'

const nothing = closed('Nothing', { says: 'Success, with an empty body.' })

/** Responds `{}`. */
export const emptyResponse = { schema: nothing.schema }
