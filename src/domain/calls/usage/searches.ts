import { isJsonObject, type Json } from '../../../kernel/json/json.js'

/** Whether an item of the output of OpenAI's Responses is a web search, which no report counts. Opening a page is none. */
export const isSearch = (item: Json): boolean => {
  if (!isJsonObject(item) || item['type'] !== 'web_search_call' || item['status'] === 'failed') return false
  const { action } = item
  return !isJsonObject(action) || action['type'] === undefined || action['type'] === 'search'
}

export const searchesIn = (output: Json | undefined): number =>
  Array.isArray(output) ? (output as readonly Json[]).filter(isSearch).length : 0
