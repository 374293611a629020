import { Textarea } from '@mantine/core'

/** What is wrong with a condition as JSON. */
export const conditionProblem = (text: string): string | undefined => {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`
  }
}

/** A condition of the `$expr` grammar as JSON, folded while there is none. */
export const ConditionField = ({
  description,
  placeholder,
  value,
  problem,
  onChange,
}: {
  readonly description: string
  readonly placeholder: string
  readonly value: string
  readonly problem?: string | undefined
  readonly onChange: (value: string) => void
}) => (
  <details open={value !== '' || undefined}>
    <summary>A further condition</summary>
    <Textarea
      mt={8}
      label="Condition"
      description={description}
      placeholder={placeholder}
      autosize
      minRows={3}
      classNames={{ input: 'mono' }}
      value={value}
      error={conditionProblem(value) ?? problem}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  </details>
)
