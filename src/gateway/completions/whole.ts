import { isUpstreamError, meteredWhole, wholeAnswer } from '../answer/whole-answer.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { requireType, readWhole } from './read-answer.js'
import { refusedIn, type Asked } from './asking.js'
import type { Completing, CompletionResponse } from './completing.js'
import { atHand } from './keeping.js'
import { badAnswer } from './upstream-failure.js'

/** An upstream's whole answer as the client gets it, recorded before. */
export const wholeOf = async (
  asked: Asked,
  { call, model, promptTokens, said }: Completing,
): Promise<CompletionResponse> => {
  const body = await read(asked, model)
  const text = jsonText(body)
  const position = await call.end({
    output: atHand(body),
    metered: meteredWhole(body, promptTokens),
    failure: null,
    said: said(),
  })
  return { body: text, type: 'application/json', position }
}

const read = async (asked: Asked, model: string): Promise<JsonObject> => {
  requireType(asked.answer, 'whole')
  const read = await readWhole(asked.answer.body)
  if (isUpstreamError(read)) throw refusedIn(asked, read)
  const body = wholeAnswer(read, model)
  if (body === undefined) throw badAnswer('it has no choices')
  return body
}
