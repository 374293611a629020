import { describedAs } from '../../kernel/codec/codec.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { int64, string } from '../../kernel/codec/leaves.js'

/** Answers name this many. */
const MAX_NAMED = 100

/** The members of answers with costs about models without a price. */
export const unpricedModels = {
  unpriced_models: describedAs(arrayOf(string), {
    description: `Models without a price that used tokens, at most ${MAX_NAMED}. Only if costs were requested.`,
  }),
  unpriced_model_count: describedAs(int64, { description: 'The number of all such models.' }),
}

export const unpricedMembers = (models: readonly string[], count = models.length) => ({
  unpriced_models: models.slice(0, MAX_NAMED),
  unpriced_model_count: count,
})
