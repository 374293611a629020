import { useMemo } from 'react'
import { withMarks } from './control-marks.js'

/** Text of others, with labels for characters that are not seen. The element around it says how far its direction reaches. */
export const Marked = ({ text, isProse = false }: { readonly text: string; readonly isProse?: boolean }) => {
  const parts = useMemo(() => withMarks(text, isProse), [text, isProse])
  return parts.map((part, n) =>
    typeof part === 'string' ? (
      part
    ) : (
      <span className="control" key={n} title={part.code}>
        {part.label}
      </span>
    ),
  )
}

/** A name that others gave, whose direction ends with it. */
export const Name = ({ text }: { readonly text: string }) => (
  <bdi>
    <Marked text={text} />
  </bdi>
)
