import { isUpstreamError, meteredWhole, wholeAnswer } from '../answer/whole-answer.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Answering } from './asking.js'
import type { Completing, CompletionResponse } from './completing.js'
import { readWhole, requireUncompressed } from './read-answer.js'
import { badAnswer } from './upstream-failure.js'

/**
 * An upstream's whole answer.
 *
 * @throws Failure for anything else
 */
export const readCompletion = async (
  { answer, errorIn }: Answering,
  publicModel: string,
): Promise<JsonObject> => {
  requireUncompressed(answer)
  const read = await readWhole(answer.body)
  if (isUpstreamError(read)) throw errorIn(read)
  const body = wholeAnswer(read, publicModel)
  if (body === undefined) throw badAnswer('it has no choices')
  return body
}

/** A whole answer as the client gets it, recorded before. */
export const wholeOf = async (
  body: JsonObject,
  { call, promptTokens, said }: Completing,
): Promise<CompletionResponse> => {
  const text = jsonText(body)
  const position = await call.end({
    output: body,
    metered: meteredWhole(body, promptTokens),
    failure: null,
    said: said(),
  })
  return { body: text, type: 'application/json', position }
}
