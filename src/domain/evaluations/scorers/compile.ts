import * as E from 'fp-ts/lib/Either.js'
import type { ScoringTools } from '../../../kernel/ports/scoring-tools.js'
import type { ScorableRow, Scored, Rule } from '../scoring.js'
import { argumentsOf, type BuiltInClass, type BuiltInSettings } from './built-in-settings.js'
import { argumentReader, TARGET_COLUMNS } from './column-map.js'
import * as json from './json-rules.js'
import type { BuiltInScorer } from './scorer.js'
import * as text from './text-rules.js'
import * as value from './value-rules.js'

type RuleOf<C extends BuiltInClass> = (
  settings: BuiltInSettings<C>,
  tools: ScoringTools,
) => E.Either<string, Rule>

const RULES: { readonly [C in BuiltInClass]: RuleOf<C> } = {
  ExactMatchScorer: (settings) => E.right(value.exactMatch(settings)),
  NumericToleranceScorer: (settings) => E.right(value.numericTolerance(settings)),
  ContainsScorer: (settings) => E.right(text.contains(settings)),
  RegexScorer: text.regex,
  EditDistanceScorer: (settings, tools) => E.right(text.editDistance(settings, tools)),
  RougeScorer: (settings, tools) => E.right(text.rouge(settings, tools)),
  StringMatchScorer: () => E.right(text.stringMatch),
  LevenshteinScorer: (_, tools) => E.right(text.levenshtein(tools)),
  ValidJSONScorer: () => E.right(json.validJson),
  JSONSchemaScorer: json.jsonSchema,
}

/**
 * Compiles a built-in scorer once, for all rows; the error says why a pattern or a schema does not compile. The function
 * never throws: what a row lacks, or has in the wrong type, is a failure of that row.
 */
export const compileBuiltIn =
  (tools: ScoringTools) =>
  (scorer: BuiltInScorer): E.Either<string, (row: ScorableRow) => Scored> =>
    E.bimap(
      (error: string) => `${scorer.className} ${scorer.ref}: ${error}`,
      (rule: Rule) => withArguments(scorer, rule),
    )((RULES[scorer.className] as RuleOf<BuiltInClass>)(scorer.settings, tools))

const withArguments = ({ className, columnMap, settings }: BuiltInScorer, rule: Rule) => {
  const readOutput = argumentReader(columnMap, 'output')
  const readTarget = argumentReader(columnMap, 'target')
  const needsTarget =
    argumentsOf(className).includes('target') && !('values' in settings && settings.values !== null)
  return (row: ScorableRow): Scored => {
    const output = readOutput(row)
    if (output === undefined) return missing('output', columnMap['output'])
    if (!needsTarget) return rule(output, undefined)
    const target = readTarget(row)
    return target === undefined ? missing('target', columnMap['target']) : rule(output, target)
  }
}

const missing = (argument: string, path: string | undefined): Scored => ({
  failed:
    path === undefined
      ? `the example has no column for ${argument}: map one with column_map, or name it ${TARGET_COLUMNS.join(', ')}`
      : `the row has no field ${JSON.stringify(path)}, which column_map names for ${argument}`,
})
