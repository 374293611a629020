import { Button, Modal, type ButtonProps } from '@mantine/core'
import { useState, type ReactNode } from 'react'

/** A button whose action is asked for once more, with its consequences. */
export const ConfirmButton = ({
  label,
  title,
  children,
  onConfirm,
  ...props
}: ButtonProps & {
  readonly label: string
  /** What happens, as a question. */
  readonly title: string
  readonly children?: ReactNode
  readonly onConfirm: () => void
}) => {
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        {...props}
        aria-label={title.replace(/\?$/, '')}
        onClick={() => setAsked(true)}
      >
        {label}
      </Button>
      <Modal opened={isAsked} onClose={() => setAsked(false)} title={title}>
        {children}
        <div className="bar" style={{ marginTop: 16, justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={() => setAsked(false)}>
            Cancel
          </Button>
          <Button
            color="red"
            data-autofocus
            onClick={() => {
              setAsked(false)
              onConfirm()
            }}
          >
            {label}
          </Button>
        </div>
      </Modal>
    </>
  )
}
