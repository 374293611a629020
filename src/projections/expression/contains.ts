import type { Contains } from '../../domain/query/expression.js'
import { textsAt } from './json.js'
import type { Parameters } from './parameters.js'
import { asText, isLiteral, type Value } from './value.js'

/**
 * Whether a text holds another, or has all its tokens: runs of letters, digits and characters outside ASCII. Of a list,
 * whether one of its items does. Never NULL: nothing is contained in what is not there.
 */
export const contains = (
  { input, substr }: { readonly input: Value; readonly substr: Value },
  { case_insensitive }: Pick<Contains, 'case_insensitive'>,
  token: boolean,
  parameters: Parameters,
): string => {
  const inCase = (sql: string) => (case_insensitive ? `lowerUTF8(${sql})` : sql)
  const haystacks = input.type === 'json' ? textsAt(input) : `[ifNull(${asText(input)}, '')]`
  const foundIn = (sought: string) => {
    const found = token
      ? `notEmpty(tokens(${sought})) AND hasAll(tokens(${inCase('h')}), tokens(${sought}))`
      : `position(${inCase('h')}, ${sought}) > 0`
    return `arrayExists(h -> h != '' AND ${found}, ${haystacks})`
  }
  // As the argument of a lambda the literal would be copied for each row.
  if (isLiteral(substr) && substr.type === 'text')
    return foundIn(inCase(parameters.text(String(substr.literal))))
  return `arrayExists(s -> s IS NOT NULL AND ${foundIn(inCase('assumeNotNull(s)'))}, [${asText(substr)}])`
}
