import type { JsonObject } from '../../kernel/json/json.js'
import { parseJsonInSteps } from '../../kernel/json/parse-in-steps.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { jsonText } from '../../kernel/json/text.js'
import type { FieldTexts } from '../projection.js'

/** JSON in which `NaN` and infinities are texts, as the engine reads it. */
export const plainJson = (text: string): string => {
  try {
    return jsonText(parseJson(text))
  } catch {
    return '{}'
  }
}

/** The plain JSON of a configuration or summary that is not in the event, in steps. */
export const plainTexts = async (data: JsonObject, texts: FieldTexts): Promise<FieldTexts> => {
  const plain: [string, string][] = []
  for (const field of ['config', 'summary'])
    if (texts[field] !== undefined) plain.push([field, await plainInSteps(data[field] as string)])
  return Object.fromEntries(plain)
}

const plainInSteps = async (text: string): Promise<string> => {
  try {
    const { value } = await parseJsonInSteps(text, { isLimited: false, isWellFormed: false })
    return await jsonTextInSteps(value)
  } catch {
    return '{}'
  }
}
