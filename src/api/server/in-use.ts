import { nullable } from '../../kernel/codec/containers.js'
import { oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'

/** Removes something that others use, too. */
export const forced = open('Forced', { optional: { force: nullable(oneOf('true', 'false')) } })
