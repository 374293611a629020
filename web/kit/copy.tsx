import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'

export const copy = async (text: string): Promise<void> => {
  if (window.isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way over plain HTTP
  document.execCommand('copy')
  area.remove()
}

export const CopyButton = ({ text, children }: { readonly text: string; readonly children: ReactNode }) => {
  const [isCopied, setCopied] = useState(false)
  return (
    <Button
      size="compact-sm"
      variant="default"
      onClick={() => {
        void copy(text).then(() => {
          setCopied(true)
          setTimeout(() => setCopied(false), 1500)
        })
      }}
    >
      {isCopied ? 'Copied' : children}
    </Button>
  )
}
