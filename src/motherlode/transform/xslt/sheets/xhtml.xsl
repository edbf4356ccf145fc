<?xml version="1.0" encoding="UTF-8"?>
<!-- Title, e-mail addresses, images, links and their labels, as in MultiCrawler (section 3.3).
     Vocabularies: RDFS, Dublin Core, FOAF. Applied only if the job file names it: see docs/transforms.md. -->
<xsl:stylesheet version="1.0"
    xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:dcterms="http://purl.org/dc/terms/"
    xmlns:foaf="http://xmlns.com/foaf/0.1/"
    xmlns:h="http://www.w3.org/1999/xhtml"
    exclude-result-prefixes="h">

  <xsl:param name="base"/>
  <xsl:output method="xml" encoding="UTF-8"/>
  <xsl:variable name="against" select="normalize-space(/h:html/h:head/h:base[@href][1]/@href)"/>

  <xsl:template match="/">
    <rdf:RDF>
      <xsl:apply-templates select="*"/>
    </rdf:RDF>
  </xsl:template>

  <xsl:template match="text()"/>

  <xsl:template match="h:head/h:title[normalize-space()]">
    <rdf:Description rdf:about="{$base}">
      <dc:title><xsl:call-template name="language"/><xsl:value-of select="normalize-space()"/></dc:title>
    </rdf:Description>
  </xsl:template>

  <xsl:template match="h:a[starts-with(normalize-space(@href), 'mailto:')]" priority="1">
    <rdf:Description rdf:about="{$base}">
      <foaf:topic>
        <foaf:Agent>
          <foaf:mbox rdf:resource="{substring-before(concat(normalize-space(@href), '?'), '?')}"/>
          <xsl:call-template name="label"/>
        </foaf:Agent>
      </foaf:topic>
    </rdf:Description>
  </xsl:template>

  <xsl:template match="h:a[normalize-space(@href)] | h:area[normalize-space(@href)]">
    <xsl:if test="not(starts-with(normalize-space(@href), '#') or starts-with(normalize-space(@href), 'javascript:'))">
      <rdf:Description rdf:about="{$base}">
        <dcterms:references>
          <xsl:call-template name="against"/>
          <rdf:Description rdf:about="{normalize-space(@href)}"><xsl:call-template name="label"/></rdf:Description>
        </dcterms:references>
      </rdf:Description>
    </xsl:if>
    <xsl:apply-templates select="*"/>
  </xsl:template>

  <xsl:template match="h:img[normalize-space(@src) and not(starts-with(normalize-space(@src), 'data:'))]">
    <rdf:Description rdf:about="{$base}">
      <dcterms:hasPart>
        <xsl:call-template name="against"/>
        <foaf:Image rdf:about="{normalize-space(@src)}">
          <xsl:if test="normalize-space(@alt)">
            <rdfs:label><xsl:call-template name="language"/><xsl:value-of select="normalize-space(@alt)"/></rdfs:label>
          </xsl:if>
        </foaf:Image>
      </dcterms:hasPart>
    </rdf:Description>
  </xsl:template>

  <xsl:template name="label">
    <xsl:variable name="label" select="normalize-space(concat(., ' ', .//h:img/@alt, ' ', self::h:area/@alt))"/>
    <xsl:if test="$label != ''">
      <rdfs:label><xsl:call-template name="language"/><xsl:value-of select="$label"/></rdfs:label>
    </xsl:if>
  </xsl:template>

  <xsl:template name="language">
    <xsl:if test="(ancestor-or-self::*/@lang)[last()] != ''">
      <xsl:attribute name="xml:lang"><xsl:value-of select="(ancestor-or-self::*/@lang)[last()]"/></xsl:attribute>
    </xsl:if>
  </xsl:template>

  <!-- References are resolved against the page's base element. -->
  <xsl:template name="against">
    <xsl:if test="$against">
      <xsl:attribute name="xml:base"><xsl:value-of select="$against"/></xsl:attribute>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
